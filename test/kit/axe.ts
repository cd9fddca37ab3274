import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/**
 * Looks for what keeps people from using a screen. Legacy mode: the other one opens a second page, which a desktop window cannot.
 * A few milliseconds of a fading layer would be measured as poor contrast, so animations are waited for.
 */
export async function expectAccessible(page: Page, screen: string): Promise<void> {
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((each) => each.finished.catch(() => undefined))).then(() => undefined),
  )
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode(true)
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze()
  const told = violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n  ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary ?? ''}`).join('\n  ')}`,
  )
  expect(told, `accessibility of ${screen}`).toEqual([])
}
