import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Badge, Code, Heading, Notice, SmallTable, Time, useStore } from './parts.tsx';
import type { Part, VolumeDetail, WhyDetail } from './protocol.ts';
import { volumesLink } from './routes.ts';
import type { Store } from './store.ts';
import { useDetail } from './use-detail.ts';

/** Shows a Volume with everything that belongs to it. */
export function VolumeScreen({ store, name }: { store: Store; name: string }) {
  const { state } = useStore(store);
  const [read, setRead] = useState(0);
  const row = state.volumes.get(name);
  // A Volume that comes or goes, and an API server that is back, are changes, too.
  const version = `${row?.version} ${state.connection?.connected} ${read}`;
  const { detail, problem, isMissing, isBusy } = useDetail(name, version);
  return (
    <>
      <p class="path">
        <a href={volumesLink()}>Volumes</a>
      </p>
      <Heading title={name}>
        <span class="object-name">{name}</span>{' '}
        {(row ?? detail?.row) !== undefined && <Badge text={(row ?? detail?.row)?.phase ?? ''} />}
      </Heading>
      <div class="heading-row">
        <button type="button" onClick={() => setRead(read + 1)} aria-disabled={isBusy}>
          Refresh
        </button>
        <span class="muted" role="status">
          {isBusy && detail === undefined ? 'Reading the Volume…' : ''}
        </span>
      </div>
      {isMissing && (
        <Notice title="There is no such Volume">
          <p>
            It was deleted, or never existed. <a href={volumesLink()}>Show all Volumes</a>.
          </p>
        </Notice>
      )}
      {!isMissing && problem !== '' && (
        <Notice title="The Volume could not be read">
          <p>{problem}</p>
          <p>Press Refresh to try again.</p>
        </Notice>
      )}
      {detail !== undefined && <Detail detail={detail} />}
    </>
  );
}

function Detail({ detail }: { detail: VolumeDetail }) {
  const { fields, conditions, attachments, claim, events, why, command, yaml } = detail;
  return (
    <>
      <Section title="Why">
        <Shown part={why} draw={(found) => <Why why={found} />} />
      </Section>
      <Section title="Spec and status">
        <dl>
          {fields.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          <div>
            <dt>Created</dt>
            <dd>
              <Time value={detail.row.created} />
            </dd>
          </div>
        </dl>
      </Section>
      <Section title="Conditions">
        {conditions.length === 0 ? (
          <p class="muted">The daemon has not reported any yet.</p>
        ) : (
          <SmallTable
            label="Conditions"
            headings={['Type', 'Status', 'Reason', 'Since', 'Message']}
            rows={conditions.map(({ type, status, reason, since, message }) => ({
              key: type,
              cells: [type, status, reason, <Time key="since" value={since} />, message],
            }))}
          />
        )}
      </Section>
      <Section title="Attachments">
        {attachments.length === 0 ? (
          <p class="muted">No node is recorded as having the device.</p>
        ) : (
          <SmallTable
            label="Attachments"
            headings={['Node', 'State', 'Device', 'Pods', 'Since', 'Message']}
            rows={attachments.map(({ node, state, device, readOnly, pods, since, message }) => ({
              key: node,
              cells: [
                node,
                <Badge key="state" text={state} />,
                `${device}${readOnly ? ' (read-only)' : ''}`,
                pods.join(', '),
                <Time key="since" value={since} />,
                message,
              ],
            }))}
          />
        )}
      </Section>
      <Section title="Claim">
        <Shown
          part={claim}
          none="No claim is bound to it."
          draw={({ name, phase, pods }) => (
            <dl>
              <div>
                <dt>Name</dt>
                <dd>{name}</dd>
              </div>
              <div>
                <dt>Phase</dt>
                <dd>{phase}</dd>
              </div>
              <div>
                <dt>Used by</dt>
                <dd>
                  <Shown
                    part={pods}
                    draw={(names) => (names.length === 0 ? 'no pod' : names.join(', '))}
                  />
                </dd>
              </div>
            </dl>
          )}
        />
      </Section>
      <Section title="Events">
        <Shown
          part={events}
          draw={(all) =>
            all.length === 0 ? (
              <p class="muted">There are none. API servers keep events for an hour.</p>
            ) : (
              <SmallTable
                label="Events"
                headings={['Last seen', 'Type', 'Reason', 'Count', 'Message']}
                rows={all.toReversed().map((event, index) => ({
                  key: `${index} ${event.last} ${event.reason}`,
                  cells: [
                    <Time key="last" value={event.last} />,
                    event.type,
                    event.reason,
                    String(event.count),
                    event.message,
                  ],
                }))}
              />
            )
          }
        />
      </Section>
      <Section title="Create the same">
        <Shown part={command} draw={(line) => <Code text={line} label="command line" />} />
      </Section>
      <Section title="YAML">
        <Shown part={yaml} draw={(text) => <Code text={text} label="YAML" />} />
      </Section>
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  const id = `s-${title.toLowerCase().replaceAll(' ', '-')}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** Shows a part, or why it is missing. */
function Shown<T>(props: { part: Part<T>; draw: (found: T) => ComponentChildren; none?: string }) {
  const { part, draw, none = 'There is none.' } = props;
  if ('found' in part) return <>{draw(part.found)}</>;
  return <p class="muted">{part.missing === '' ? none : `Not shown: ${part.missing}`}</p>;
}

function Why({ why }: { why: WhyDetail }) {
  const { nothing, cause, holdup, since, nextTry, fix, command, manifest } = why;
  if (nothing !== '') return <p class="prose">{nothing}</p>;
  const isTime = /^\d{4}-\d\d-\d\dT/.test(nextTry);
  return (
    <div class="card">
      <dl>
        <div>
          <dt>Cause</dt>
          <dd>{cause}</dd>
        </div>
        <div>
          <dt>Blocked by</dt>
          <dd class="prose">{holdup}</dd>
        </div>
        {since !== '' && (
          <div>
            <dt>Since</dt>
            <dd>
              <Time value={since} />
            </dd>
          </div>
        )}
        {nextTry !== '' && (
          <div>
            <dt>Next try</dt>
            <dd>{isTime ? <Time value={nextTry} /> : nextTry}</dd>
          </div>
        )}
        {fix !== '' && (
          <div>
            <dt>Fix</dt>
            <dd class="prose">{fix}</dd>
          </div>
        )}
      </dl>
      {manifest !== '' && <Code text={manifest} label="manifest of the fix" />}
      {command !== '' && <Code text={command} label="command of the fix" />}
    </div>
  );
}
