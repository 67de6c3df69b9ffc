import { createServer } from 'node:net';

/**
 * Start of the ports, below those of outgoing connections (ip_local_port_range begins at 32768). A
 * server that restarts finds its port still free.
 */
const FIRST = 20_000;
const COUNT = 12_000;

let next = process.pid % COUNT;

/**
 * Returns ports of 127.0.0.1 without a listener, reserved until this process ends. An abstract
 * socket reserves each port for all tests: the kernel allows every name once.
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

/** Reserves a port unless another process has it. */
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
