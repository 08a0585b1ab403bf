import { isSecretName } from "./core/secret.ts"

const shortest = 8

/** Hides the values of keys that this process knows, wherever a tool came by them. */
export function masking(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    isSecretName(name) && value && value.length >= shortest ? [value] : [],
  )
  // The longest first: one may be part of another.
  const ordered = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  return (text) => ordered.reduce((masked, secret) => masked.replaceAll(secret, "[secret]"), text)
}
