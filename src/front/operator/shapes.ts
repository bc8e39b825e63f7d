/** The bodies and answers of the operator API. */
import { mintMembers } from '../../access/keys/api/key-body.ts'
import { keyShape } from '../../access/keys/shapes.ts'
import * as t from '../../web/http/shape.ts'
import { upstreamShape } from '../admin/api/upstream-shape.ts'
import { accountMembers, findingShape, keysInUse, reason } from '../admin/shapes.ts'
import { statusShape } from '../status/shapes.ts'

/** The wallet in examples; it stands for an existing account. */
export const operatedWallet = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const account = t.text('Address of the account.', operatedWallet, { maxLength: 60 })

/** The body of suspending and resuming an account. */
export const whyBody = t.body('OperatorReason', 'Why it is done.', { 'reason?': reason })

export const foundAccountShape = t.answer('FoundAccount', 'An account and how many keys it has.', {
  ...accountMembers,
  keys: keysInUse,
})

export const creditBody = t.body('OperatorGrantWish', 'Credit to give to an account.', {
  account,
  amount_nusd: t.nusd('How much, at least 1.', 25_000_000_000),
  reason,
})

/** Members of what an operator gave, to an account or back to it. */
const given = {
  account: t.address('Whose it is.'),
  reason: t.text('Why.', 'invoice 17'),
  balance_nusd: t.nusd('What the account has now, holds included.', 25_000_000_000),
}

export const creditShape = t.answer('OperatorGrant', 'Credit that an operator gave.', {
  id: t.id('req', 'Its reference in the journal and in the audit log.'),
  object: t.only('grant'),
  amount_nusd: t.nusd('How much.', 25_000_000_000),
  ...given,
})

export const refundBody = t.body('OperatorRefundWish', 'Money to give back.', {
  account,
  ref: t.text('A run, or a final deposit.', t.sampleIds.run, { maxLength: 40 }),
  amount_nusd: t.nusd('How much, at least 1 and at most what is left of it.', 1000),
  reason,
})

export const refundShape = t.answer('OperatorRefund', 'What an operator gave back.', {
  id: t.text('Its reference in the journal.', `${t.sampleIds.run}/1`),
  object: t.only('refund'),
  ref: t.text('What it is of.', t.sampleIds.run),
  amount_nusd: t.nusd('How much.', 1000),
  refunded_nusd: t.nusd('All refunds of the reference so far.', 1000),
  ...given,
})

export const operatorMintBody = t.body('OperatorKeyWish', 'A key to be made for an account.', {
  account,
  ...mintMembers,
  'parent_id?': t.id('key', 'A key of the account to put it below. Default: none.'),
})

export const operatorKeysShape = t.page('OperatorKeys', 'Keys of an account.', keyShape)

export const giveBody = t.body('OperatorAssignWish', 'Whose deposit it is.', { account, reason })

const digest = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'

export const healthShape = t.answer(
  'OperatorHealth',
  'Whether all parts work, and what to do where one does not.',
  {
    object: t.only('health'),
    status: t.oneOf('As in `GET /v1/status`.', ['ok', 'degraded']),
    findings: t.list(findingShape, 'Each part, the most damaging failure first.'),
    service: statusShape,
    configuration: t.object('What the live nodes sell, and from where.', {
      node: t.text('The node that answered.', 'node_0123456789abcdef'),
      digest: t.text('SHA-256 of its models, plans and upstreams, without keys.', digest),
      nodes: t.list(
        t.object('', {
          id: t.text('A node of this database.', 'node_0123456789abcdef'),
          digest: t.text('Its digest. Nodes of one service should have the same.', digest),
        }),
        'Those that said theirs, up to some seconds ago.',
      ),
    }),
    upstreams: t.list(
      upstreamShape,
      'What this process asked of upstreams, and how fast they were.',
    ),
  },
)
