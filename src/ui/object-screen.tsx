import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Actions, type ActionsProps } from './actions/buttons.tsx';
import type { Read } from './api.ts';
import { Code, Heading, Notice, useStore } from './parts.tsx';
import type { ObjectDetail } from './protocol.ts';
import { Section, Shown, Why } from './sections.tsx';
import type { Store } from './store.ts';
import { useDetail } from './use-detail.ts';

/** Screen of an object, which is read again whenever its row changes. */
export function ObjectScreen<T extends ObjectDetail>(props: {
  store: Store;
  /** Kind in words, as in `The claim could not be read`. */
  what: string;
  name: string;
  list: { link: string; title: string };
  read: Read<T>;
  /** Changes with each change of the object. */
  version: string;
  badges?: ComponentChildren;
  /** Actions on the object, in its namespace. */
  actions?: { namespace: string; offered: ActionsProps['actions'] };
  /** Facts of the feed, which are shown before the rest is read. */
  facts: ComponentChildren;
  /** Section after the explanation. */
  section?: (detail: T) => ComponentChildren;
  /** Sections that need no read. They follow the answer, which would move them. */
  more?: ComponentChildren;
  /** Command of `stowage describe`. */
  command: string;
}) {
  const { store, what, name, list, read, version, badges, facts, command } = props;
  const { actions, section, more } = props;
  const { state } = useStore(store);
  const [count, setCount] = useState(0);
  // An API server that is back is a change, too.
  const key = `${version} ${state.connection?.connected} ${count}`;
  const { detail, problem, isMissing, isBusy } = useDetail(read, key);
  return (
    <>
      <p class="path">
        <a href={list.link}>{list.title}</a>
      </p>
      <Heading title={name}>
        <span class="object-name">{name}</span> {badges}
      </Heading>
      <div class="heading-row">
        <button type="button" onClick={() => setCount(count + 1)} aria-disabled={isBusy}>
          Refresh
        </button>
        <span class="muted" role="status">
          {isBusy && detail === undefined ? `Reading the ${what}…` : ''}
        </span>
      </div>
      {isMissing && (
        <Notice title={`There is no such ${what}`}>
          <p>
            It was deleted, or never existed.{' '}
            <a href={list.link}>Show all {list.title.toLowerCase()}</a>.
          </p>
        </Notice>
      )}
      {!isMissing && problem !== '' && (
        <Notice title={`The ${what} could not be read`}>
          <p class="prose">{problem}</p>
          <p>Press Refresh to try again.</p>
        </Notice>
      )}
      {actions !== undefined && (
        <Actions
          label="Actions"
          store={store}
          namespace={actions.namespace}
          isHidden={isMissing}
          actions={actions.offered}
        />
      )}
      {!isMissing && facts}
      {detail !== undefined && (
        <>
          <Section title="Why">
            <Shown part={detail.why} draw={(found) => <Why why={found} />} />
          </Section>
          {section?.(detail)}
        </>
      )}
      {(detail !== undefined || problem !== '') && !isMissing && more}
      {detail !== undefined && (
        <Section title="Description">
          <p class="muted">
            As <code>{command}</code> prints it.
          </p>
          <Shown
            part={detail.description}
            draw={(text) => <Code text={text} label="description" />}
          />
        </Section>
      )}
    </>
  );
}

/** List of labels and values; values that are empty are left out. */
export function Facts({ facts }: { facts: readonly [label: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== '' && value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
