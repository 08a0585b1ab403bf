import { isSecretName } from "./core/secret.ts"

const shortest = 8

/** Keys that are told by their form: of model providers, of code hosts, of clouds and chats, and private ones. */
const known = new RegExp(
  [
    "\\bsk-(?:ant-|proj-|or-)?[\\w-]{32,}",
    "\\b(?:gh[opusr]|npm)_[A-Za-z0-9]{36,}",
    "\\bgithub_pat_\\w{22,}",
    "\\bglpat-[\\w-]{20,}",
    "\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b",
    "\\bAIza[\\w-]{35}",
    "\\bxox[abprs]-[\\w-]{20,}",
    "-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\\s\\S]{64,}?-----END (?:[A-Z]+ )*PRIVATE KEY-----",
  ].join("|"),
  "g",
)

/** Hides keys, those that this process knows and those that look like one, wherever a tool came by them. */
export function masking(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    isSecretName(name) && value && value.length >= shortest ? [value] : [],
  )
  // The longest first: one may be part of another.
  const ordered = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  return (text) =>
    ordered.reduce((masked, secret) => masked.replaceAll(secret, "[secret]"), text).replace(known, "[secret]")
}
