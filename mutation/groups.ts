/** What is mutated together: source files or folders, the tests to ask, and more of them. */
export type Group = { places: string[]; near: RegExp; wide: RegExp }

const named = (folder: string, names: string): string[] =>
  names.split(' ').map((name) => `${folder}/${name}.ts`)

export const groups: Record<string, Group> = {
  verify: {
    places: [
      ...named('src/verify', 'address base64 check-anchor check-log checks commitment'),
      ...named('src/verify', 'ed25519 eip712 input json-text keccak merkle page-payload'),
      ...named('src/verify', 'path proof receipt shown-checks signature'),
      ...named('src/verify', 'slip-lines typed-data typed-values verdict-words verify'),
      'src/verify/fast',
    ],
    near: /^test\/(verify\/|receipts\/digest)/,
    wide: /^test\/(verify|receipts|log|signer)\//,
  },
  evidence: {
    places: [
      ...named('src/verify', 'check-witnesses checkpoint-note log-tiles policy quote read-tiles'),
      ...named('src/verify', 'signed-note tlog-proof'),
    ],
    near: /^test\/verify\/(note|policy|witnessed|quote|checkpoint|read-tiles|log-tiles)/,
    wide: /^test\/(verify|log|witnesses|quotes|audit)\//,
  },
  liabilities: {
    places: [
      ...named(
        'src/verify',
        'csv-records liabilities log-place manifest shown-liabilities sum-tree',
      ),
      'src/proof/audit/check-statements.ts',
      'src/storage/liabilities',
      ...named('src/proof/liabilities', 'liabilities publish-liabilities store treasury'),
    ],
    near: /^test\/(verify\/(liabilities|manifest|merkle)|proof\/(liabilities|audit)\/)/,
    wide: /^test\/(verify|liabilities|audit|usage)\//,
  },
  attested: {
    places: [
      ...named('src/verify', 'evidence-schemes personal-message proven upstream-evidence'),
      ...named('src/models/upstream', 'noted-answer upstream-evidence'),
      ...named('src/proof/attested', 'collect-evidence exchange-row known-evidence store'),
      'src/proof/upstream-evidence/store/forget-evidence.ts',
      'src/config/evidence-entries.ts',
    ],
    near: /^test\/(verify\/(upstream-e|evidence-f|verify)|attested\/|upstream\/noted|config\/att)/,
    wide: /^test\/(verify|attested|upstream|receipts|config)\//,
  },
  keys: {
    places: [
      ...named(
        'src/access/keys',
        'affected needs-key bounds change issue key form-token owns pause',
      ),
      ...named('src/access/keys', 'rate caller-cache resume revoke rotate secret self'),
    ],
    near: /^test\/keys\/(?!race|portal)/,
    wide: /^test\/(keys|idempotency|admin|http)\//,
  },
  money: {
    places: ['src/ledger', ...named('src/kernel', 'money fair-share')],
    near: /^test\/(ledger|kernel)\/(?!simulation)/,
    wide: /^test\/(ledger\/(?!sim)|kernel|keys\/(issue|rotate)|deposits\/c|plans\/subs)/,
  },
  'sign-in': {
    places: [
      ...named('src/access/accounts', 'needs-session contract-wallet next-page store/nonce'),
      ...named('src/access/accounts', 'session store/session sign-in api/sign-in siwe'),
      ...named('src/web/http', 'same-origin cookies'),
    ],
    near: /^test\/(accounts\/|http\/cookies)/,
    wide: /^test\/(accounts|admin|http|keys|statement)\//,
  },
  log: {
    places: ['src/proof/log'],
    near: /^test\/(log\/|verify\/merkle)/,
    wide: /^test\/(log|receipts|audit|signer|verify)\//,
  },
  runs: {
    places: [
      ...named('src/runs', 'begin cancel chunks complete ending finish fit route run stream'),
      ...named('src/models', 'bound usage'),
    ],
    near: /^test\/(runs|models)\/(?!portal|full-disk)/,
    wide: /^test\/(runs|models|keys|ledger|plans|receipts|texts|upstream|metrics|idempotency)\//,
  },
  deposits: {
    places: named(
      'src/billing/deposits',
      'claim credit deposit match-transfers payment reorg scan token transfer watch',
    ),
    near: /^test\/deposits\/(?!anvil)/,
    wide: /^test\/(deposits\/(?!anvil)|audit|statement|admin)/,
  },
  plans: {
    places: [
      ...named('src/access', 'plan plan-history'),
      ...named('src/billing/plans', 'account-plan cancel period quote renew resume'),
      ...named('src/billing/plans', 'subscribe subscription'),
    ],
    near: /^test\/plans\//,
    wide: /^test\/(plans|config|keys|runs|statement)\//,
  },
  idempotency: {
    places: ['src/storage/idempotency', 'src/web/http/idempotency-key.ts'],
    near: /^test\/idempotency\//,
    wide: /^test\/(idempotency|keys|runs|plans)\//,
  },
  audit: {
    places: ['src/proof/audit'],
    near: /^test\/audit\//,
    wide: /^test\/(audit|admin|log|signer)\//,
  },
  front: {
    places: named(
      'src/web/http',
      'client-address body check-body root host keyless limits methods',
    ),
    near: /^test\/http\//,
    wide: /^test\/(http|keys|accounts|status|runs|receipts)\//,
  },
}
