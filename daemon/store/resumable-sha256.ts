/**
 * SHA-256 whose state can be stored and taken up again after a restart. Node's own hash cannot do that, and the archive must go on
 * digesting the original bytes of a session of which it keeps only the redacted form (FIPS 180-4; compared with Node's in the tests).
 */
const K = Int32Array.from(
  [
    ...'428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174 e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da 983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85 a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070 19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2'.split(
      ' ',
    ),
  ].map((word) => Number.parseInt(word, 16) | 0),
)
const START = '6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19'

export class ResumableSha256 {
  private readonly words = new Int32Array(8)
  private readonly schedule = new Int32Array(64)
  private readonly block = new Uint8Array(64)
  private length = 0

  constructor() {
    this.setWords(START)
  }

  /** Takes up what {@link save} gave. Throws TypeError when it is something else. */
  static resume(saved: string): ResumableSha256 {
    const found = /^([0-9a-f]{64}):(\d{1,15}):((?:[0-9a-f]{2}){0,63})$/.exec(saved)
    const hash = new ResumableSha256()
    const rest = Buffer.from(found?.[3] ?? '', 'hex')
    hash.length = Number(found?.[2] ?? Number.NaN)
    if (found === null || rest.length !== hash.length % 64) throw new TypeError('not a saved digest state')
    hash.setWords(found[1] ?? '')
    hash.block.set(rest)
    return hash
  }

  update(bytes: Uint8Array): this {
    let at = 0
    const used = this.length % 64
    this.length += bytes.length
    if (used > 0) {
      const take = Math.min(64 - used, bytes.length)
      this.block.set(bytes.subarray(0, take), used)
      at = take
      if (used + take < 64) return this
      this.compress(this.block, 0)
    }
    for (; at + 64 <= bytes.length; at += 64) this.compress(bytes, at)
    this.block.set(bytes.subarray(at))
    return this
  }

  /** Hash words, bytes so far, and the bytes of the unfinished block. */
  save(): string {
    const rest = Buffer.from(this.block.subarray(0, this.length % 64)).toString('hex')
    return `${hexOf(this.words)}:${this.length}:${rest}`
  }

  /** The digest so far, in hex; more can be added afterwards. */
  digest(): string {
    const end = ResumableSha256.resume(this.save())
    const used = end.length % 64
    const padding = new Uint8Array((used < 56 ? 64 : 128) - used)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, Math.floor(end.length / 0x2000_0000))
    view.setUint32(padding.length - 4, (end.length << 3) >>> 0)
    end.update(padding)
    return hexOf(end.words)
  }

  private setWords(hex: string): void {
    for (let n = 0; n < 8; n += 1) this.words[n] = Number.parseInt(hex.slice(n * 8, n * 8 + 8), 16)
  }

  private compress(bytes: Uint8Array, at: number): void {
    const { words, schedule: w } = this
    for (let n = 0; n < 16; n += 1) {
      const from = at + n * 4
      w[n] = (bytes[from]! << 24) | (bytes[from + 1]! << 16) | (bytes[from + 2]! << 8) | bytes[from + 3]!
    }
    for (let n = 16; n < 64; n += 1) {
      const x = w[n - 15]!
      const y = w[n - 2]!
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[n] = (w[n - 16]! + s0 + w[n - 7]! + s1) | 0
    }
    let a = words[0]!
    let b = words[1]!
    let c = words[2]!
    let d = words[3]!
    let e = words[4]!
    let f = words[5]!
    let g = words[6]!
    let h = words[7]!
    for (let n = 0; n < 64; n += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[n]! + w[n]!) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    words[0] = (words[0]! + a) | 0
    words[1] = (words[1]! + b) | 0
    words[2] = (words[2]! + c) | 0
    words[3] = (words[3]! + d) | 0
    words[4] = (words[4]! + e) | 0
    words[5] = (words[5]! + f) | 0
    words[6] = (words[6]! + g) | 0
    words[7] = (words[7]! + h) | 0
  }
}

const hexOf = (words: Int32Array): string =>
  [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
