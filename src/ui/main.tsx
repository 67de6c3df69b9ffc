import { render } from 'preact';
import { hasKey, openSession } from './api.ts';
import { App } from './app.tsx';
import { followFeed } from './feed.ts';
import { tokenIn } from './routes.ts';
import { createStore } from './store.ts';

/** Exchanges the token of the URL, if there is one, and starts the page. */
async function start(): Promise<void> {
  const token = tokenIn(location.hash);
  // At once: the token must stay neither in the address bar nor in the history.
  if (token !== undefined) history.replaceState(null, '', '#/');
  const store = createStore(requestAnimationFrame);
  if (token !== undefined) await openSession(token).catch(() => {});
  if (!hasKey()) store.setLink('no-key');
  const app = document.getElementById('app');
  if (app === null) return;
  app.replaceChildren();
  render(<App store={store} />, app);
  if (hasKey()) void followFeed(store);
}

// Another link in the address bar of this tab changes only the fragment, and loads nothing.
addEventListener('hashchange', () => {
  if (tokenIn(location.hash) !== undefined) location.reload();
});
void start();
