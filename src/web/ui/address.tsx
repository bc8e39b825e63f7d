/** A wallet's address with its checksum: shortened to the eye, whole in its title. */
import { toChecksumAddress } from '../../verify/address.ts'

export function Address({ value }: { value: string }) {
  const whole = toChecksumAddress(value)
  return (
    <code class="hex" title={whole}>
      {whole.slice(0, 6)}…{whole.slice(-4)}
    </code>
  )
}
