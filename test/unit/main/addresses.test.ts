import { describe, expect, it } from 'vitest'
import { isOurs, isSafeExternal } from '../../../main/window/addresses.ts'

describe('addresses the window knows', () => {
  it.each(['app://ui/', 'app://ui/runs/r_1/at/4?tab=events#x'])('%s is ours', (address) =>
    expect(isOurs(address)).toBe(true),
  )
  it.each([
    'app://other/',
    'app://ui.example/',
    'app://ui@other/',
    'https://ui/',
    'file:///etc/passwd',
    'javascript:1',
    'about:blank',
    '',
    'app:ui',
  ])('%s is not ours', (address) => expect(isOurs(address)).toBe(false))
  it.each(['https://example.org/a?b#c'])('%s may be opened outside', (address) =>
    expect(isSafeExternal(address)).toBe(true),
  )
  it.each([
    'http://example.org/',
    'file:///etc/passwd',
    'https://user:secret@example.org/',
    'smb://host/share',
    'javascript:alert(1)',
    'https://',
    `https://a/${'x'.repeat(5000)}`,
  ])('%s may not', (address) => expect(isSafeExternal(address)).toBe(false))
})
