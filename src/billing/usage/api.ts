/** Routes under /v1/usage: sums and exports for a key and the keys below it. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { downloadResponse } from '../../web/http/download.ts'
import { queryOf } from '../../web/http/query.ts'
import { readExportQuery, readSumsQuery } from './api/usage-query.ts'
import { exportUsage, manifestOf } from './export.ts'
import { exportTally } from './manifest.ts'
import { usageOf } from './sum.ts'
import { toUsageView } from './usage-view.ts'

export const usageApi = (deps: Deps) =>
  new Elysia({ name: 'usage-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/usage',
      async ({ caller, request }) => {
        const wish = readSumsQuery(queryOf(request), deps.clock.now())
        const keyIds = await deps.keys.subtree(caller.key)
        return toUsageView(await usageOf(deps, { account: caller.account, keyIds, ...wish }))
      },
      { needsKey: 'usage:read' },
    )
    .get(
      '/v1/usage/export',
      async ({ caller, request, server, set }) => {
        const wish = readExportQuery(queryOf(request))
        const keyIds = await deps.keys.subtree(caller.key)
        const file = await exportUsage(
          deps,
          { account: caller.account, keyIds, ...wish },
          {
            tally: exportTally(deps),
          },
        )
        set.headers['x-as-of'] = String(file.asOf)
        return downloadResponse({ request, server, set }, file, {
          onBug: (error) => deps.log.error('usage.export_failed', error),
        })
      },
      { needsKey: 'usage:read' },
    )
    .get(
      '/v1/usage/export/manifest',
      async ({ caller, request }) => {
        const wish = readExportQuery(queryOf(request))
        const keyIds = await deps.keys.subtree(caller.key)
        const asked = { account: caller.account, keyIds, ...wish }
        return manifestOf(deps, asked, exportTally(deps), request.signal)
      },
      { needsKey: 'usage:read' },
    )
