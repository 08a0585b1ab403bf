/** Whether a variable of this name holds something that nobody else should see. */
export const isSecretName = (name: string): boolean => /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL/i.test(name)
