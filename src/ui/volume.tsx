import { useState } from 'preact/hooks';
import { Actions } from './actions/buttons.tsx';
import { reads } from './api.ts';
import { ObjectLink } from './links.tsx';
import { Badge, Code, Heading, Notice, SmallTable, Time, useStore } from './parts.tsx';
import type { VolumeDetail } from './protocol.ts';
import { volumesLink } from './routes.ts';
import { Section, Shown, Why } from './sections.tsx';
import { SnapshotTable } from './snapshot-table.tsx';
import type { State, Store } from './store.ts';
import { timelineOf } from './timeline.ts';
import { UsageSection } from './usage.tsx';
import { useDetail } from './use-detail.ts';

/** Shows a Volume with everything that belongs to it. */
export function VolumeScreen({ store, name }: { store: Store; name: string }) {
  const { state } = useStore(store);
  const [read, setRead] = useState(0);
  const row = state.volumes.get(name);
  // A Volume that comes or goes, and an API server that is back, are changes, too.
  const version = `${row?.version} ${state.connection?.connected} ${read}`;
  const { detail, problem, isMissing, isBusy } = useDetail(reads.volume(name), version);
  return (
    <>
      <p class="path">
        <a href={volumesLink()}>Volumes</a>
      </p>
      <Heading title={name}>
        <span class="object-name">{name}</span>{' '}
        {(row ?? detail?.row) !== undefined && <Badge text={(row ?? detail?.row)?.phase ?? ''} />}{' '}
        {row?.paused && <Badge text="Paused" />}
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
      <VolumeActions store={store} name={name} detail={detail} isMissing={isMissing} />
      {detail !== undefined && <Detail detail={detail} state={state} />}
    </>
  );
}

/** Actions on a Volume, and on its claim. */
function VolumeActions(props: {
  store: Store;
  name: string;
  detail: VolumeDetail | undefined;
  isMissing: boolean;
}) {
  const { store, name, detail, isMissing } = props;
  const preset = { name };
  const claim = detail !== undefined && 'found' in detail.claim ? detail.claim.found.name : '';
  const [namespace = '', claimName = ''] = claim.split('/');
  const [attachment] = detail?.row.attachments ?? [];
  return (
    <Actions
      label="Actions"
      store={store}
      namespace={namespace}
      isHidden={isMissing}
      actions={[
        { action: 'deleteVolume', preset },
        { action: 'resizeVolume', preset },
        { action: 'retryVolume', preset },
        { action: store.state.volumes.get(name)?.paused ? 'resumeVolume' : 'pauseVolume', preset },
        {
          ...({ action: 'detachVolume', preset } as const),
          ...(attachment !== undefined && { initial: { node: attachment.node } }),
        },
        {
          action: 'createSnapshot',
          ...(claim !== '' && {
            ...{ preset: { claim: claimName }, initial: { snapshot: `${claim}-` } },
          }),
        },
      ]}
    />
  );
}

function Detail({ detail, state }: { detail: VolumeDetail; state: State }) {
  const { row, fields, conditions, claim, events, why, command, yaml } = detail;
  const { attachments } = row;
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
              <Time value={row.created} />
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
                <dd>
                  <ObjectLink kind="PersistentVolumeClaim" name={name} text={name} />
                </dd>
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
      {'found' in claim && (
        <Section title="Snapshots">
          <SnapshotTable state={state} claim={claim.found.name} />
        </Section>
      )}
      <UsageSection name={row.name} />
      <Section title="Timeline">
        {'missing' in events && <Shown part={events} draw={() => null} />}
        <Timeline detail={detail} />
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

/** Shows what happened to a Volume, the newest first. */
function Timeline({ detail }: { detail: VolumeDetail }) {
  return (
    <>
      <SmallTable
        label="Timeline"
        headings={['Time', 'Kind', 'What', 'Message']}
        rows={timelineOf(detail).map(({ time, kind, title, message, isWarning }, index) => ({
          key: `${index} ${time} ${title}`,
          cells: [
            <Time key="time" value={time} />,
            isWarning ? `${kind}, warning` : kind,
            title,
            message,
          ],
        }))}
      />
      <p class="muted">API servers keep events for an hour.</p>
    </>
  );
}
