/** Shows the evidence of an upstream on the page of a receipt, and says what it proves. */
import type { UpstreamEvidence } from '../../../verify/upstream-evidence.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import type { KnownEvidence } from '../known-evidence.ts'
import { evidenceWords } from '../words.ts'

/** `path` is where its file is, as shown to this reader. */
export function EvidencePanel({ known, path }: { known: KnownEvidence; path: string }) {
  const { file } = known
  return (
    <Panel
      id="attested"
      title="Evidence of the upstream"
      aside={
        file ? (
          <ButtonLink href={path} small download>
            Evidence JSON
          </ButtonLink>
        ) : null
      }
    >
      <Pad>
        <p>{evidenceWords(known)}</p>
        {file ? <Signed of={file.statement} /> : null}
        <p class="quiet">
          <small>{file ? proven : none}</small>
        </p>
      </Pad>
    </Panel>
  )
}

const Signed = ({ of }: { of: UpstreamEvidence }) => (
  <Facts
    of={[
      ['Key', <Hash value={of.key} />],
      ['Request', <Hash value={of.request_sha256} />],
      ['Answer', <Hash value={of.answer_sha256} />],
    ]}
  />
)

const proven =
  'This proves that the key above, which the operator of this service pinned, signed these ' +
  'hashes of a request and an answer, and that the service logged them as those of this run. It ' +
  'does not prove that the key lives in an enclave: check the attestation report of the upstream ' +
  'for that. Nor does it prove that the texts of this run are the ones that were signed: the ' +
  'service translates requests for the upstream and keeps neither side as bytes, so the hashes ' +
  'cannot be compared with the commitments of the receipt. That they belong together is the ' +
  'signed word of the service.'

const none =
  'The upstream of this run signs its answers. Without its signature the receipt stands like ' +
  'any other: the service alone says what the upstream answered.'
