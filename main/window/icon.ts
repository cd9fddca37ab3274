import { type NativeImage, nativeImage } from 'electron'

/** What the tray says by its shape, so that it can be read without colour. */
export type IconState = 'plain' | 'active' | 'attention'

/**
 * The mark: an arrow that runs back around a point. Drawn here, pixel by pixel with four by four samples each, so that every size is
 * sharp and no picture has to be kept in step with another.
 */
export function drawIcon(size: number, state: IconState = 'plain'): NativeImage {
  const pixels = Buffer.alloc(size * size * 4)
  const samples = 4
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      let covered = 0
      for (let i = 0; i < samples * samples; i += 1) {
        const u = (x + ((i % samples) + 0.5) / samples) / size
        const v = (y + (Math.floor(i / samples) + 0.5) / samples) / size
        if (isInk(u, v, state)) covered += 1
      }
      const alpha = covered / (samples * samples)
      // Premultiplied BGRA, mid violet: legible on light and on dark panels.
      const at = (y * size + x) * 4
      pixels[at] = Math.round(236 * alpha)
      pixels[at + 1] = Math.round(110 * alpha)
      pixels[at + 2] = Math.round(124 * alpha)
      pixels[at + 3] = Math.round(255 * alpha)
    }
  }
  return nativeImage.createFromBitmap(pixels, { width: size, height: size })
}

function isInk(u: number, v: number, state: IconState): boolean {
  const mark = badge(u, v, state)
  if (mark !== 'outside') return mark === 'ink'
  const x = u - 0.5
  const y = v - 0.5
  const radius = Math.hypot(x, y)
  if (radius < 0.1) return true
  const angle = Math.atan2(y, x) // 0 is right, grows downwards
  const ring = radius > 0.31 && radius < 0.43
  const gap = angle < -Math.PI / 2 && angle > -Math.PI * 0.82
  if (ring && !gap) return true
  // The head of the arrow, pointing left at the top end of the ring.
  return x <= 0.06 && x >= -0.2 && Math.abs(y + 0.37) <= ((x + 0.2) / 0.26) * 0.2
}

/** A dot or a triangle in the lower right corner, with a clear rim around it. */
function badge(u: number, v: number, state: IconState): 'ink' | 'rim' | 'outside' {
  if (state === 'plain') return 'outside'
  if (state === 'active') {
    const distance = Math.hypot(u - 0.79, v - 0.79)
    return distance < 0.19 ? 'ink' : distance < 0.26 ? 'rim' : 'outside'
  }
  const inside = (grow: number) =>
    v > 0.56 - grow && v < 0.97 + grow / 2 && Math.abs(u - 0.76) < ((v - 0.56 + grow) / 0.41) * 0.23
  return inside(0) ? 'ink' : inside(0.09) ? 'rim' : 'outside'
}
