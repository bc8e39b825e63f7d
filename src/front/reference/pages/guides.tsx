/** The pages of the guides, and their list at the front of the documentation. */
import { CopyButton } from '../../../web/ui/button.tsx'
import { Code } from '../../../web/ui/copy-box.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { type Guide, guidePath, guides } from '../guides.ts'
import { Prose } from './parts.tsx'

/** A key of the reader: the newest one that is not revoked. */
export type ReaderKey = { id: string; name: string; fingerprint: string }

export const GuideList = () => (
  <Panel id="guides" title="Guides">
    <ul class="bare finds">
      {guides.map(({ id, title, about }) => (
        <li>
          <a href={guidePath(id)}>{title}</a> <small class="quiet">{about}</small>
        </li>
      ))}
    </ul>
  </Panel>
)

type GuideProps = { guide: Guide; baseUrl: string; own: ReaderKey | undefined }

export function GuidePage({ guide, baseUrl, own }: GuideProps) {
  const at = guides.indexOf(guide)
  const next = guides[at + 1]
  return (
    <>
      <PageHead title={guide.title} />
      <p>{guide.about}</p>
      <p class="quiet">
        This service is at <code>{baseUrl}</code>.{' '}
        {own ? (
          <>
            The commands take your key from COUNTERFOIL_KEY:{' '}
            <a href={`/dashboard/keys/${own.id}`}>{own.name}</a> is <Hash value={own.fingerprint} />
            .
          </>
        ) : (
          <>
            The commands take your key from COUNTERFOIL_KEY:{' '}
            <a href="/dashboard/keys/new">make one</a>.
          </>
        )}
      </p>
      <Panel id="steps" title="Steps">
        <Pad>
          <ol class="stack">
            {guide.steps(baseUrl).map(({ title, about, command }, i) => (
              <li>
                <p class="row apart">
                  <strong>{title}</strong>
                  {command === undefined ? null : <CopyButton of={`step-${i}`} />}
                </p>
                {about === undefined ? null : (
                  <p>
                    <Prose>{about}</Prose>
                  </p>
                )}
                {command === undefined ? null : (
                  <Code id={`step-${i}`} label={title} text={command} wrap />
                )}
              </li>
            ))}
          </ol>
        </Pad>
      </Panel>
      <p>
        {next ? (
          <>
            Next: <a href={guidePath(next.id)}>{next.title}</a>.{' '}
          </>
        ) : null}
        Every route and field: <a href="/docs#everywhere">the reference</a>.
      </p>
    </>
  )
}
