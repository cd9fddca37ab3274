/**
 * Ids of any form → small numbers, in 12 bytes an entry: for the rows of a session of any size (B15). Ids are kept as 64-bit hashes; a
 * false meeting of two among ten million has a chance of about one in 400,000.
 */
export class IdTable {
  #low: Uint32Array
  #high: Uint32Array
  /** Value + 1; 0 marks a free place. */
  #values: Uint32Array
  #size = 0

  constructor() {
    this.#low = new Uint32Array(1024)
    this.#high = new Uint32Array(1024)
    this.#values = new Uint32Array(1024)
  }

  get size(): number {
    return this.#size
  }

  /** -1 when the id is not there. */
  get(id: string): number {
    hashInto(id)
    return this.#values[this.#place(low, high)]! - 1
  }

  set(id: string, value: number): void {
    hashInto(id)
    const place = this.#place(low, high)
    if (this.#values[place] === 0) {
      this.#size++
      this.#low[place] = low
      this.#high[place] = high
    }
    this.#values[place] = value + 1
    if (this.#size * 4 > this.#values.length * 3) this.#grow()
  }

  #place(a: number, b: number): number {
    const mask = this.#values.length - 1
    let place = a & mask
    while (this.#values[place] !== 0 && (this.#low[place] !== a || this.#high[place] !== b)) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const [oldLow, oldHigh, oldValues] = [this.#low, this.#high, this.#values]
    this.#low = new Uint32Array(oldLow.length * 2)
    this.#high = new Uint32Array(oldLow.length * 2)
    this.#values = new Uint32Array(oldLow.length * 2)
    for (let at = 0; at < oldValues.length; at++) {
      if (oldValues[at] === 0) continue
      const place = this.#place(oldLow[at]!, oldHigh[at]!)
      this.#low[place] = oldLow[at]!
      this.#high[place] = oldHigh[at]!
      this.#values[place] = oldValues[at]!
    }
  }
}

/** A list of unsigned 32-bit numbers that grows by doubling. */
export class NumberList {
  #values = new Uint32Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): number {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length] = value
    return this.#length++
  }

  get(at: number): number {
    return this.#values[at]!
  }

  set(at: number, value: number): void {
    this.#values[at] = value
  }
}

let low = 0
let high = 0

/** Two independent multiplicative mixes over the UTF-16 units, finished so that every input bit reaches every output bit. */
function hashInto(id: string): void {
  let a = 0x811c9dc5
  let b = 0x9e3779b9
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
    b ^= b >>> 13
  }
  a ^= a >>> 16
  a = Math.imul(a, 0x7feb352d)
  a ^= a >>> 15
  low = a >>> 0
  b = Math.imul(b ^ (b >>> 15), 0x846ca68b)
  high = (b ^ (b >>> 16)) >>> 0
}
