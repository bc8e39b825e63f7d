/** Tiers of service, as `service_tier` names them. */

/** What a request and an answer call the tier of a model's own rates. */
export const ordinaryTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
])
