import type { ComponentChildren } from 'preact';
import { Code, Time } from './parts.tsx';
import type { Part, WhyDetail } from './protocol.ts';

/** Part of a screen with a heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  const id = `s-${title.toLowerCase().replaceAll(' ', '-')}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** Shows a part, or why it is missing. */
export function Shown<T>(props: {
  part: Part<T>;
  draw: (found: T) => ComponentChildren;
  none?: string;
}) {
  const { part, draw, none = 'There is none.' } = props;
  if ('found' in part) return <>{draw(part.found)}</>;
  return <p class="muted">{part.missing === '' ? none : `Not shown: ${part.missing}`}</p>;
}

/** Shows what blocks an object, and the fix. */
export function Why({ why }: { why: WhyDetail }) {
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
