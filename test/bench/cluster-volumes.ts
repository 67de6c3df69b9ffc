/**
 * `npm run bench:cluster -- cluster-volumes`: 200 Volumes at once on a real API server, over nodes that do at once what they
 * are told. kube-apiserver, etcd, the controllers beside them, the daemon and this process share the machine's processors.
 */
import { startRealApi } from './api-servers.ts';
import { measureVolumes } from './many-volumes.ts';

await measureVolumes(Number(process.argv[2] ?? 200), startRealApi);
