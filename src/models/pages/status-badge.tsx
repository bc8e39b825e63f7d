/** The state of a model in one word, on every page that lists models. */
import { Badge } from '../../web/ui/status.tsx'
import type { Model } from '../model.ts'

const looks = {
  live: ['ok', 'Live'],
  deprecated: ['warn', 'Deprecated'],
  disabled: ['bad', 'Off'],
} as const

export const StatusBadge = ({ of }: { of: Model['status'] }) => {
  const [tone, words] = looks[of]
  return <Badge tone={tone}>{words}</Badge>
}
