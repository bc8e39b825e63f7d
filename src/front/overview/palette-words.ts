/** Other words for pages and actions, and the keys that lead to them. Runs in browsers too. */

/** By address: `invoice` finds the statement. */
export const synonyms: Readonly<Record<string, string>> = {
  '/dashboard': 'home start balance money',
  '/dashboard/console': 'chat playground ask try',
  '/dashboard/runs': 'logs requests calls history',
  '/dashboard/receipts': 'proofs evidence',
  '/dashboard/keys': 'api key tokens credentials caps',
  '/dashboard/usage': 'spend analytics charts metrics tokens csv export',
  '/dashboard/statement': 'statement invoice bill csv export movements withdraw',
  '/dashboard/deposits': 'top up add money fund stablecoin withdraw refund',
  '/dashboard/vouchers': 'coupon code redeem top up add money',
  '/dashboard/liabilities': 'reserves solvency',
  '/dashboard/plan': 'subscription upgrade cancel',
  '/dashboard/passports': 'profile handle',
  '/dashboard/settings': 'preferences retention time zone',
  '/dashboard/members': 'team people invite roles',
  '/dashboard/webhooks': 'events callbacks',
  '/dashboard/sessions': 'devices browsers',
  '/dashboard/admin': 'operator accounts',
  '/models': 'prices catalogue',
  '/plans': 'pricing subscriptions',
  '/verify': 'check proof',
  '/docs': 'docs documentation guide help reference curl openapi api',
}

/** Where keys are made: a page of those alone who may. */
export const newKeyPage = '/dashboard/keys/new'

/** Pages that stand in no menu; each needs the page before it. */
export const deeper: readonly (readonly [needs: string, href: string, label: string])[] = [
  [newKeyPage, newKeyPage, 'New key'],
  ['/dashboard/deposits', '/dashboard/deposits', 'Add money'],
  ['/docs', '/docs/guides/first-run', 'Guide: the first run'],
  ['/docs', '/docs/guides/clients', 'Guide: the OpenAI clients'],
  ['/docs', '/docs/guides/verify', 'Guide: verify a receipt'],
  ['/docs', '/docs/guides/agents', 'Guide: keys for agents'],
  ['/docs', '/docs/guides/tools', 'Guide: tools (MCP)'],
]

/** Typed after `g`. */
export const goKeys: Readonly<Record<string, string>> = {
  o: '/dashboard',
  c: '/dashboard/console',
  r: '/dashboard/runs',
  k: '/dashboard/keys',
  u: '/dashboard/usage',
  b: '/dashboard/statement',
}

/** Typed after `n`: what is made there, and the page that it needs. */
export const newKeys: Readonly<
  Record<string, readonly [href: string, needs: string, what: string]>
> = {
  k: [newKeyPage, newKeyPage, 'New key'],
}
