import { useEffect, useRef, useState } from 'preact/hooks';
import { anotherLink } from './api.ts';
import { Attachments } from './attachments.tsx';
import { ClaimScreen } from './claim.tsx';
import { Claims } from './claims.tsx';
import { NodeScreen } from './node.tsx';
import { Nodes } from './nodes.tsx';
import { Overview } from './overview.tsx';
import { Code, Heading, Notice, Time, useStore } from './parts.tsx';
import { PopulatorsScreen } from './populators.tsx';
import { type Screen, screenOf, volumesLink } from './routes.ts';
import { SnapshotScreen } from './snapshot.tsx';
import { Snapshots } from './snapshots.tsx';
import type { State, Store } from './store.ts';
import { VolumeScreen } from './volume.tsx';
import { Volumes } from './volumes.tsx';

/** Screens of the navigation: title, link, and the screens that belong to each. */
const SCREENS: readonly (readonly [title: string, link: string, ...Screen['screen'][]])[] = [
  ['Overview', '#/', 'overview'],
  ['Volumes', volumesLink(), 'volumes', 'volume'],
  ['Nodes', '#/nodes', 'nodes', 'node'],
  ['Claims', '#/claims', 'claims', 'claim'],
  ['Snapshots', '#/snapshots', 'snapshots', 'snapshot'],
  ['Populators', '#/populators', 'populators'],
  ['Attachments', '#/attachments', 'attachments'],
];

const focusHeading = () => document.getElementById('heading')?.focus();

/** The page: header, screen and connection. */
export function App({ store }: { store: Store }) {
  const { state } = useStore(store);
  const screen = useScreen();
  if (state.link === 'no-key') return <NoKey />;
  return (
    <>
      {/* A link would change the fragment, which is the address of the screen. */}
      <button type="button" class="skip" onClick={focusHeading}>
        Skip to the content
      </button>
      <header>
        <a class="brand" href="#/">
          Stowage
        </a>
        <nav aria-label="Screens">
          {SCREENS.map(([title, link, ...screens]) => (
            <a
              key={link}
              href={link}
              aria-current={screens.includes(screen.screen) ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <AnotherLink />
      </header>
      <main id="main">
        <Content screen={screen} store={store} />
      </main>
      <Connection state={state} />
    </>
  );
}

function Content({ screen, store }: { screen: Screen; store: Store }) {
  switch (screen.screen) {
    case 'overview':
      return <Overview store={store} />;
    case 'volumes':
      return <Volumes store={store} phase={screen.phase} node={screen.node} />;
    case 'volume':
      return <VolumeScreen key={screen.name} store={store} name={screen.name} />;
    case 'nodes':
      return <Nodes store={store} />;
    case 'node':
      return <NodeScreen key={screen.name} store={store} name={screen.name} />;
    case 'claims':
      return <Claims store={store} />;
    case 'claim':
      return <ClaimScreen key={screen.name} store={store} name={screen.name} />;
    case 'snapshots':
      return <Snapshots store={store} />;
    case 'snapshot':
      return <SnapshotScreen key={screen.name} store={store} name={screen.name} />;
    case 'populators':
      return <PopulatorsScreen />;
    case 'attachments':
      return <Attachments store={store} />;
    case 'unknown':
      return (
        <>
          <Heading title="Not found">There is no such screen</Heading>
          <p>
            Go to the <a href="#/">Overview</a>.
          </p>
        </>
      );
  }
}

/** Returns the screen of the URL. The focus follows a navigation to another one. */
function useScreen(): Screen {
  const [hash, setHash] = useState(location.hash);
  const last = useRef(screenOf(hash));
  useEffect(() => {
    const navigated = () => setHash(location.hash);
    addEventListener('hashchange', navigated);
    return () => removeEventListener('hashchange', navigated);
  }, []);
  const screen = screenOf(hash);
  useEffect(() => {
    const before = last.current;
    last.current = screenOf(hash);
    const name = (each: Screen) => ('name' in each ? each.name : '');
    // A filter is in the URL, too, and must keep the focus.
    if (before.screen === last.current.screen && name(before) === name(last.current)) return;
    window.scrollTo(0, 0);
    focusHeading();
  }, [hash]);
  return screen;
}

/** Bar at the bottom with the connection, which screen readers announce when it changes. */
function Connection({ state }: { state: State }) {
  const { link, connection, server } = state;
  const isLost = link === 'lost';
  const isBroken = isLost || (connection?.connected === false && connection.error !== undefined);
  return (
    <footer class={isBroken ? 'broken' : ''}>
      <p role="status" id="connection">
        {isLost && 'stowage ui does not answer. If it has ended, start it again and open its URL.'}
        {link === 'connecting' && 'Connecting to stowage ui…'}
        {link === 'open' && connection?.connected === true && (
          <>
            Connected to {server} since <Time value={connection.since} />
          </>
        )}
        {link === 'open' && connection?.connected === false && connection.error === undefined && (
          <>Connecting to {server}…</>
        )}
        {link === 'open' && connection?.connected === false && connection.error !== undefined && (
          <>
            The API server has not answered since <Time value={connection.since} />. The page shows
            the last known state, and tries again. {connection.error}
          </>
        )}
      </p>
    </footer>
  );
}

/** Offers a link for another tab or browser: the key of this tab cannot be copied. */
function AnotherLink() {
  const [text, setText] = useState('');
  const copy = async () => {
    try {
      const { url, seconds } = await anotherLink();
      await navigator.clipboard.writeText(url);
      setText(`Copied: works once, within ${seconds} s`);
    } catch {
      setText('No link: press Enter in the terminal of stowage ui');
    }
  };
  return (
    <div class="another">
      <span role="status">{text}</span>
      <button type="button" onClick={() => void copy()}>
        Copy another link
      </button>
    </div>
  );
}

/** Screen without a valid key. */
function NoKey() {
  return (
    <main class="alone">
      <Heading title="No access">This link is not valid</Heading>
      <Notice title="A link works once, within 60 s, and ends with the command.">
        <p>
          Press Enter in the terminal where <code>stowage ui</code> runs, and open the URL that it
          prints. If it has ended, start it again:
        </p>
        <Code text="stowage ui --open" label="command" />
      </Notice>
    </main>
  );
}
