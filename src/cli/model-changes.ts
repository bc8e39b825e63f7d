/** Shows and writes changes of `[[models]]` that come from a price file or a provider. */
import { replaceConfig } from '../app/providers/config-file.ts'
import type { Sale } from '../app/providers/provider-entries.ts'
import type { ModelDiff } from '../config/model-diff.ts'
import { entryText, faultsIn, inlineText, withModels } from '../config/model-text.ts'
import { ChangedMeanwhile } from '../config/replace-file.ts'
import type { PriceFile } from '../models/price-files/price-file.ts'
import { Exit, exitCodes, say } from './context.ts'

/** The file that the configuration is read from. */
export const pathOf = (options: Record<string, unknown>): string =>
  String(options['config'] || process.env['COUNTERFOIL_CONFIG'] || 'counterfoil.toml')

/** All of it is TOML: what is not a setting is a comment. */
export function diffText(
  { added, changed, unchanged }: ModelDiff,
  { from, markup }: Pick<Sale, 'markup'> & { from: string },
  { rates, rounded, notes }: { rates: number; rounded: number; notes: readonly string[] },
): string {
  const rule = `each rate rounded up to a whole pUSD (nUSD a call): ${rounded} of ${rates} were.`
  const head = [
    `# From ${from}: ${added.length} added, ${changed.length} changed, ${unchanged} unchanged.`,
    markup ? `# Prices are cost and markup, ${rule}` : `# Prices are those of the file, ${rule}`,
    ...notes.map((note) => `# ${note}`),
  ]
  const fresh = added.map((entry) => `\n# added\n${entryText(entry)}`)
  const others = changed.map(({ id, set, remove, before }) =>
    [
      `\n# changed\n[[models]]\nid = ${inlineText(id)}\n`,
      ...remove.map((name) => `# ${name} is removed\n`),
      ...Object.entries(set).map(([name, value]) => {
        const old = before[name]
        const was = old === undefined ? 'new' : `was ${inlineText(old)}`
        return `${name} = ${inlineText(value)}  # ${was}\n`
      }),
    ].join(''),
  )
  return [...head.map((line) => `${line}\n`), ...fresh, ...others].join('')
}

/** The values left out of the TOML, and why. */
export function tellRest({ refused, leftOut }: PriceFile, { left, short }: ModelDiff): void {
  for (const { id, configured, total } of short) {
    say(
      `Check ${id}: it is configured with ${configured} tokens of context, and the file has ` +
        `${total} of input and output together. What a run uses beyond its hold is not charged.`,
    )
  }
  for (const [reason, count] of leftOut) say(`Left out: ${count} × ${reason}.`)
  for (const { id, why } of left) say(`Left as it is: ${id}, because ${why}.`)
  for (const { id, dimensions } of refused) {
    say(`Refused: ${id} has prices that have no meter here: ${dimensions.join(', ')}.`)
  }
  if (refused.length > 0) say('To leave a dimension or a tier out knowingly: --without <name>,…')
}

export function write(path: string, text: string, { added, changed }: ModelDiff): void {
  if (added.length + changed.length === 0) {
    say(`Nothing to write: ${path} has all of it.`)
    return
  }
  writeText(path, withModels(text, changed, added), text)
  say(`Updated ${path}. Reload a running server with: kill -HUP <pid>`)
}

/**
 * Writes a configuration file, a new one too. `read`: its text that the fresh one was made from.
 * @throws Exit 1 for a text that could not be made, would be invalid, or would undo what another
 * command has written since; the file is as before
 */
export function writeText(path: string, fresh: string | undefined, read: string): void {
  const byHand = `${path} could not be changed. Copy the lines above into it by hand.`
  if (fresh === undefined) throw new Exit(exitCodes.failed, byHand)
  const faults = faultsIn(fresh)
  if (faults.length > 0) {
    const list = faults.map((fault) => `  - ${fault}`).join('\n')
    throw new Exit(exitCodes.failed, `${path} was not changed. It would be invalid:\n${list}`)
  }
  try {
    replaceConfig(path, fresh, read)
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw new Exit(exitCodes.failed, byHand)
    throw new Exit(exitCodes.failed, `${path} was changed meanwhile, and is left so. Try again.`)
  }
}
