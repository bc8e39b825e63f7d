/** A QR code, black on white in either theme, each dark run of a row as one stroke. */
import { encode } from 'uqr'

export function Qr({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { border: 2 })
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={data.map(strokesOf).join('')} />
    </svg>
  )
}

function strokesOf(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < row.length; x++) {
    if (!row[x]) continue
    const start = x
    while (row[x + 1]) x++
    path += `M${start} ${y}.5h${x - start + 1}`
  }
  return path
}
