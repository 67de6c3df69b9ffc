import { describeSuites } from '../api-server/server.ts';
import { KUBECTL_SUITES } from '../api-server/suites.ts';
import { startSandboxServer } from '../support/sandbox-server.ts';

describeSuites(KUBECTL_SUITES, () => startSandboxServer());
