import { readFileSync } from 'node:fs'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * All rules of WCAG 2.2 AA and the best practices. `target-size` is off by default, also where its
 * tag is named.
 */
export const axeOptions = {
  resultTypes: ['violations'],
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
} satisfies RunOptions

/** After a turn: what a theme or a width decides, and the names of what only this one shows. */
export const turnedOptions: RunOptions = {
  resultTypes: ['violations'],
  runOnly: [
    'color-contrast',
    'link-in-text-block',
    'target-size',
    'scrollable-region-focusable',
    'button-name',
    'link-name',
    'label',
    'aria-hidden-focus',
  ],
}

/** Half as long as the file that the package opens with: each page that is inspected parses it. */
const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Lists each element of a page that breaks one of these rules. axe runs in the page itself and
 * gives text alone: what @axe-core/playwright carries over besides takes three times as long as the rules.
 */
export async function axe(page: Page, options: RunOptions = axeOptions): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource)
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then((found) =>
    found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => 'axe ' + id + ': ' + html + ' ' + failureSummary)))`)
}
