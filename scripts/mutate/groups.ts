/** What is mutated together: source files or folders, the tests to ask, and more of them. */
export type Group = { places: string[]; near: RegExp; wide: RegExp }

const named = (folder: string, names: string): string[] =>
  names.split(' ').map((name) => `${folder}/${name}.ts`)

export const groups: Record<string, Group> = {
  verify: {
    places: ['src/verify'],
    near: /^test\/(verify\/|receipts\/digest)/,
    wide: /^test\/(verify|receipts|log|signer)\//,
  },
  keys: {
    places: [
      ...named('src/keys', 'affected auth bounds change issue key once owns pause rate remembered'),
      ...named('src/keys', 'resume revoke rotate secret self'),
    ],
    near: /^test\/keys\/(?!race|portal)/,
    wide: /^test\/(keys|idempotency|admin|http)\//,
  },
  money: {
    places: ['src/ledger', ...named('src/kernel', 'money share')],
    near: /^test\/(ledger|kernel)\/(?!simulation)/,
    wide: /^test\/(ledger\/(?!sim)|kernel|keys\/(issue|rotate)|deposits\/c|plans\/subs)/,
  },
  'sign-in': {
    places: [
      ...named('src/accounts', 'auth contract-wallet next-page nonce-store session session-store'),
      ...named('src/accounts', 'sign-in sign-in-api siwe'),
      ...named('src/http', 'same-origin cookies'),
    ],
    near: /^test\/(accounts\/|http\/cookies)/,
    wide: /^test\/(accounts|admin|http|keys|statement)\//,
  },
  log: {
    places: ['src/log'],
    near: /^test\/(log\/|verify\/merkle)/,
    wide: /^test\/(log|receipts|audit|signer|verify)\//,
  },
  runs: {
    places: [
      ...named('src/runs', 'begin cancel execute finish fit recover run'),
      ...named('src/models', 'bound usage'),
    ],
    near: /^test\/(runs|models)\/(?!portal|full-disk)/,
    wide: /^test\/(runs|models|keys|ledger|plans|receipts|texts|upstream|metrics|idempotency)\//,
  },
  deposits: {
    places: named(
      'src/deposits',
      'claim credit deposit found payment scan settle token transfer watch',
    ),
    near: /^test\/deposits\/(?!anvil)/,
    wide: /^test\/(deposits\/(?!anvil)|audit|statement|admin)/,
  },
  plans: {
    places: named(
      'src/plans',
      'cancel history period plan quote renew resume standing subscribe subscription',
    ),
    near: /^test\/plans\//,
    wide: /^test\/(plans|config|keys|runs|statement)\//,
  },
  idempotency: {
    places: ['src/idempotency', 'src/web/http/idempotency-key.ts'],
    near: /^test\/idempotency\//,
    wide: /^test\/(idempotency|keys|runs|plans)\//,
  },
  audit: {
    places: ['src/audit'],
    near: /^test\/audit\//,
    wide: /^test\/(audit|admin|log|signer)\//,
  },
  front: {
    places: named('src/http', 'address body check-body front host keyless limits methods'),
    near: /^test\/http\//,
    wide: /^test\/(http|keys|accounts|status|runs|receipts)\//,
  },
}
