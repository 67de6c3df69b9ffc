import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import type { RunCommand } from '../run-command.ts';

/** Means to read what the feed lacks, all with the rights of the user. */
export interface ReadAccess {
  client: KubeClient;
  io: Io;
  run: RunCommand;
  /** Runs commands that contact nodes. */
  runOnNode: RunCommand;
  nodeFlags(): Promise<NodeFlags>;
}
