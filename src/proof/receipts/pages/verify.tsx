/** How to reach the same verdict without this page and without this service. */
import type { ProofAnchor } from '../../../verify/proof.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'

type VerifyProps = {
  id: string
  baseUrl: string
  /** The path that downloads the file. */
  filePath: string
  signer: string | null
  anchor: ProofAnchor | undefined
  /** Whether `/v1` returns it without a key. */
  isShared: boolean
}

/** How to come to the same verdict without this page, and without this service. */
export function VerifyWithoutUs(props: VerifyProps) {
  const { id, baseUrl, filePath, signer, anchor, isShared } = props
  const url = `${baseUrl}/v1/receipts/${id}`
  return (
    <section class="stack noprint" id="how" aria-labelledby="how-title">
      <h2 id="how-title">Verify without us</h2>
      <p>
        The file holds the receipt, its signature and its proof. Everything above follows from it by
        arithmetic; only the root is looked up on the chain. Learn the signer from somewhere you
        trust.
      </p>
      <section class="code wrap commands" tabindex="0" aria-label="Commands that verify it">
        <pre>
          <b>curl</b> -s {isShared ? null : '-H "Authorization: Bearer $COUNTERFOIL_KEY" '}
          {url} {'> r.json\n'}
          <b>counterfoil</b> verify r.json{signer ? ` --signer ${signer}` : null}
          {anchor && anchor.status !== 'disabled' ? (
            <>
              {' \\\n  '}--rpc $RPC_URL --registry {anchor.registry}
            </>
          ) : null}
          {'\n'}
          <i># or open the offline page and drop r.json on it</i>
        </pre>
      </section>
      <p class="row">
        <ButtonLink href={filePath} icon="download" download>
          Receipt file
        </ButtonLink>
        <ButtonLink href="/verify.html" icon="download" download>
          Offline page
        </ButtonLink>
      </p>
    </section>
  )
}
