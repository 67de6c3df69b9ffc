/**
 * `npm run bench -- volumes`: 1,000 Volumes at once. The nodes do at once what they are told, so that what is measured is
 * the daemon and what it asks of the API server: a sandbox, whose part is told apart. They and this process, which creates
 * the Volumes and watches them, share the machine's processors.
 */
import { startSandboxApi } from './api-servers.ts';
import { measureVolumes } from './many-volumes.ts';

await measureVolumes(Number(process.argv[2] ?? 1000), startSandboxApi);
