import type { Connection, ConnectOptions } from '../kube/connect.ts';
import type { Clock } from '../kube/types.ts';

/** The part of a stream that commands write to. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** What a command has to do with the world outside: a test gives its own. */
export interface Io {
  /** Data, and nothing else. */
  stdout: Output;
  /** Messages and progress. */
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts with a SignalError. */
  signal: AbortSignal;
  clock: Clock;
  connect(options: ConnectOptions): Promise<Connection>;
}
