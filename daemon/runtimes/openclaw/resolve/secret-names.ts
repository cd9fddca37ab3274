/** Names under which a value is a secret by nature. */
const SECRET = /(api[_-]?keys?|token|secret|password|passwd|credentials?|authorization|private[_-]?key)$/i

export const isSecretName = (name: string): boolean => SECRET.test(name)

/** A dotted configuration key whose value is never shown: secrets by name, every header, every variable. */
export const isSecretKey = (keys: readonly string[]): boolean =>
  isSecretName(keys.at(-1) ?? '') || keys.includes('headers') || keys.includes('env')
