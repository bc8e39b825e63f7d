/** `setup`: prints a new link to the page that appoints the first operator, beside a server too. */
import type { Command } from 'commander'
import { issueSetupLink, setupLifeMs } from '../access/operators/setup-link.ts'
import { setupLinkStore } from '../access/operators/store/setup-links.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { openNamedServices } from './command-services.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'

type Options = Record<string, unknown> & { json?: boolean }

export function setupCommand(program: Command): void {
  verb(program, 'setup', 'print a new link to set up the service; those before it end').action(run)
}

/** @throws Exit 1 where there is an operator */
async function run(options: Options): Promise<void> {
  const { admins, base_url: baseUrl } = configOf(options)
  if (admins.length > 0) {
    const why = `${admins.join(', ')} operates this service. Add a wallet: counterfoil admin grant`
    throw new Exit(exitCodes.failed, why)
  }
  await using office = await openNamedServices(options)
  const needs = { ...office, setupLinks: setupLinkStore(office.db) }
  const link = await issueSetupLink(needs, baseUrl, { alone: true })
  const expiresAt = toRfc3339(office.clock.now() + setupLifeMs)
  if (options.json) return printJson({ object: 'setup_link', url: link, expires_at: expiresAt })
  say('It appoints the first operator, once and within an hour. Give it to no one else:')
  print(link)
}
