/** Shannon entropy of a text in bits per character. Random base64 of 40 characters has about 4.7, English words about 3.5. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** How many of lower case, upper case, digits and other signs a text uses. */
export const classesOf = (text: string): number =>
  [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((pattern) => pattern.test(text)).length

/** Whether a word reads as a part of a key and not as one of a language: digits among letters, mixed cases, or length without a pattern. */
export function looksRandom(word: string): boolean {
  if (word.length < 6) return false
  const mixed = /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(word)
  if (/\d/.test(word) && /[A-Za-z]/.test(word)) return mixed || entropyOf(word) >= 2
  return (mixed && word.length >= 8) || (word.length >= 20 && entropyOf(word) >= 3.6)
}
