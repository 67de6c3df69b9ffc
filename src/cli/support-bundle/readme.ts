import { VERSION } from '../../api/version.ts';

/** Returns README.txt of an archive. `now` is in ms since the epoch. Pure. */
export const readme = (now: number): string => `Stowage support bundle
======================

stowage ${VERSION} wrote this archive at ${new Date(now).toISOString()}.

LOOK THROUGH IT BEFORE YOU SEND IT. It names your nodes, namespaces, objects, users and hosts. The
patterns that remove secrets cannot know every form of a secret.

versions.json   versions of stowage, Node.js, the API server, the CRDs and the nodes
why.json        stowage why --all -o json
cluster.json    stowage check cluster -o json
nodes/          stowage check node NODE -o json, for each node
objects/        objects that Stowage serves or depends on, a list for each kind, and their Events
logs/           end of the logs of the daemon's pods, also before their last restart
metrics/        metrics of the daemon's pods
errors.txt      what was not read, left out or cut. Without this file, nothing is missing

No Secret was read. REMOVED stands for removed text:

- users, passwords, queries and fragments of URLs;
- Authorization headers, cookies, tokens and private keys;
- values of fields, variables and flags that are named like a secret;
- environment variables, except references and Stowage's own;
- the annotation kubectl.kubernetes.io/last-applied-configuration.

A part that exceeds its limit is cut. A text says so where it is cut, and a list has the number of
its missing objects as leftOut.
`;
