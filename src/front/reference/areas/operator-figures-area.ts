/** Reference entries of the operator API about deposits, figures and health. */
import { depositPageShape, depositShape } from '../../../billing/deposits/shapes.ts'
import { usageQuery, usageShape } from '../../../billing/usage/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { marginsShape, operatedModelsShape } from '../../admin/shapes.ts'
import { giveBody, healthShape, operatedWallet as wallet } from '../../operator/shapes.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const accountQuery = { account: t.text('Whose. Required.', wallet) }
const reason = 'invoice 17'

const deposits = [
  operation('listOperatedDeposits', 'GET /operator/v1/deposits', 'List deposits of all', {
    about: 'All of them, those that wait, those without an account, or those never credited.',
    access: 'operator deposits:read',
    query: {
      ...pageQuery(t.sampleIds.dep),
      state: t.oneOf('Default: all.', ['all', 'waiting', 'unassigned', 'ignored']),
    },
    examples: [{ name: 'Unassigned', query: { state: 'unassigned' }, status: 200 }],
    answers: [ok('A page of deposits.', depositPageShape)],
  }),
  operation('giveDeposit', 'POST /operator/v1/deposits/:id/assign', 'Assign a deposit by program', {
    about: 'Gives a deposit to another account than that of its sender: what is still available.',
    access: 'operator deposits:write',
    path: { id: t.id('dep', 'Id of a deposit.') },
    body: { schema: giveBody },
    examples: [
      {
        name: 'One that is not there',
        path: { id: t.sampleIds.dep },
        body: { account: wallet, reason },
        status: 404,
      },
    ],
    answers: [ok('The deposit as it is now.', depositShape)],
    refuses: ['not_found', 'conflict'],
  }),
]

const figures = [
  operation('showOperatedUsage', 'GET /operator/v1/usage', 'Usage of an account', {
    about: 'Sums of its runs by day, key, model or tag; no text of a run.',
    access: 'operator usage:read',
    query: { ...accountQuery, ...usageQuery },
    examples: [{ name: 'By model', query: { account: wallet, group_by: 'model' }, status: 200 }],
    answers: [ok('The sums.', usageShape)],
  }),
  operation('showOperatedMargins', 'GET /operator/v1/margins', 'Margins by program', {
    about: 'Revenue, cost and margin by model, account or day.',
    access: 'operator usage:read',
    query: {
      by: t.oneOf('Default: model.', ['model', 'account', 'day']),
      days: t.oneOf('The last days, in place of `from` and `to`.', ['7', '30', '90']),
      from: t.text('First day (UTC). Default: 29 days ago.', '2026-11-01'),
      to: t.text('Last day (UTC). Default: today.', '2026-11-21'),
    },
    examples: [{ name: 'By account', query: { by: 'account' }, status: 200 }],
    answers: [ok('Margins.', marginsShape)],
  }),
  operation('listOperatedModels', 'GET /operator/v1/models', 'Models and prices by program', {
    about: 'What models cost, what is sold below cost, and how upstreams do.',
    access: 'operator models:read',
    answers: [ok('Models.', operatedModelsShape)],
  }),
  operation('showOperatedHealth', 'GET /operator/v1/health', 'How the service is, by program', {
    about: 'Each part and what to do about it, with what `GET /v1/status` says.',
    access: 'operator health:read',
    answers: [ok('Each part.', healthShape)],
  }),
]

export const operatorFiguresArea = area('operator-figures', 'programs', 'Operator API: figures', {
  about: 'Deposits, usage, margins, models and health, with a token of the operator API.',
  operations: [...deposits, ...figures],
})
