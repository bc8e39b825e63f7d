/** Tiers of service, as `service_tier` names them. */

/** The names that requests and answers have for the tier of a model's own rates. */
export const ordinaryTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
])
