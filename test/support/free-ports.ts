import { createServer } from 'node:net';

/**
 * Ports below those that outgoing connections get (ip_local_port_range begins at 32768): a server that is down for a moment finds
 * its port free again.
 */
const FIRST = 20_000;
const COUNT = 12_000;

let next = process.pid % COUNT;

/**
 * Returns ports of 127.0.0.1 that nothing listens on. They are this process's until it ends: an abstract socket, of which
 * the kernel has one by a name, keeps them from every other test.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries === COUNT) throw new Error(`no port from ${FIRST} on is free`);
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** Reserves it, where no other process has. */
function reserve(port: number): Promise<boolean> {
  const server = createServer().unref();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(`\0stowage-test-port-${port}`, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
