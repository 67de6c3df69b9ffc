import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { age } from '../api/age.ts';
import type { SourceState } from './protocol.ts';
import type { State, Store } from './store.ts';

/** Interval (ms) at which ages are drawn again. */
const AGE_REFRESH = 10_000;

/** Draws the component again after each change of the store. Returns the number of the change. */
export function useStore(store: Store): { state: State; revision: number } {
  const [revision, setRevision] = useState(0);
  // Other effects run later, on a busy machine much later: changes until then would be missed.
  useLayoutEffect(() => store.subscribe(() => setRevision((last) => last + 1)), [store]);
  return { state: store.state, revision };
}

/** Returns the time (ms), which is updated so that ages stay right. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), AGE_REFRESH);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Shows a time in the local zone, with UTC in the title. */
export function Time({ value }: { value: string }) {
  if (value === '') return <span>–</span>;
  return (
    <time dateTime={value} title={`${value.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`}>
      {new Date(value).toLocaleString()}
    </time>
  );
}

/** Shows the age of a time, with the local time and UTC in the title. */
export function Age({ value, now }: { value: string; now: number }) {
  if (value === '') return <span>–</span>;
  return (
    <time dateTime={value} title={`${new Date(value).toLocaleString()} (${value})`}>
      {age(value, now)}
    </time>
  );
}

const TONES: Readonly<Record<string, string>> = {
  Available: 'good',
  Attached: 'good',
  Bound: 'good',
  Ready: 'good',
  Pending: 'busy',
  Attaching: 'busy',
  Detaching: 'busy',
  Terminating: 'busy',
  Paused: 'busy',
  Failed: 'bad',
  Lost: 'bad',
  Uncertain: 'bad',
};

/** Shows a state. The color only repeats the text. */
export function Badge({ text }: { text: string }) {
  return <span class={`badge ${TONES[text] ?? 'plain'}`}>{text}</span>;
}

/** Heading of a screen, which gets the focus after a navigation. */
export function Heading({ children, title }: { children: ComponentChildren; title: string }) {
  useLayoutEffect(() => {
    document.title = `${title} · Stowage`;
  }, [title]);
  return (
    <h1 id="heading" tabIndex={-1}>
      {children}
    </h1>
  );
}

/** Message in place of data. */
export function Notice({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

/** Explains why a kind is not shown; nothing if it is. */
export function SourceNotice({ source, kind }: { source: SourceState | undefined; kind: string }) {
  if (source === undefined) return null;
  const title =
    source.state === 'refused' ? `${kind} cannot be read` : `${kind} are not up to date`;
  return (
    <Notice title={title}>
      <p>{source.message}</p>
      {source.hint !== undefined && <p>{source.hint}</p>}
      {source.state === 'failed' && <p>The request is repeated.</p>}
    </Notice>
  );
}

/** Part of the page that scrolls sideways, also by keyboard. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls needs the focus
    <div class="scroll" role="group" tabIndex={0} aria-label={label}>
      {children}
    </div>
  );
}

/** Text to copy, such as a command line. */
export function Code({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div class="code">
      <Scroll label={label}>
        <pre>{text}</pre>
      </Scroll>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** Table of a few rows, which scrolls sideways on narrow screens. */
export function SmallTable(props: {
  label: string;
  headings: readonly string[];
  rows: readonly { key: string; cells: readonly ComponentChildren[] }[];
}) {
  const { label, headings, rows } = props;
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={headings[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
