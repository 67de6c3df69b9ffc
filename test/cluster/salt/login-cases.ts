import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SaltAccess } from '../../../src/nodes/transport/salt/access.ts';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { describeAsRoot } from '../../support/root.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { type Salt, startSalt } from './salt.ts';
import type { TokenReviews } from './token-reviews.ts';

const ACCOUNT = 'system:serviceaccount:stowage:stowage';
const OTHER = 'system:serviceaccount:default:default';
const AUDIENCE = 'salt-api';

/**
 * Declares tests of logins to salt-api with ServiceAccounts' tokens. `start` writes its files to
 * the directory.
 */
export function loginCases(name: string, start: (folder: string) => Promise<TokenReviews>): void {
  describeAsRoot(`logins to salt-api with tokens that ${name} reviews`, () => {
    let reviews: TokenReviews;
    let salt: Salt;
    let folder: { path: string; remove(): Promise<void> };

    beforeAll(async () => {
      folder = await temporaryDirectory('salt-logins');
      reviews = await start(folder.path);
      salt = await startSalt({
        minions: ['n1'],
        master: {
          external_auth: { kubernetes_token: { [ACCOUNT]: ['@stowage'] } },
          kubernetes_token: {
            url: reviews.url,
            ca_file: reviews.caFile,
            token_file: reviews.tokenFile,
            audience: AUDIENCE,
          },
        },
      });
    });
    afterAll(async () => {
      await salt?.stop();
      await reviews?.stop();
      await folder?.remove();
    });

    const secretFile = () => join(folder.path, 'token');
    const access = (user = ACCOUNT): SaltAccess => ({
      ...salt.access,
      eauth: 'kubernetes_token',
      user,
      secretFile: secretFile(),
    });

    async function subjects(user?: string): Promise<unknown> {
      const executor = createSaltExecutor({
        access: access(user),
        minionOf: (node) => node,
        clock: systemClock,
      });
      try {
        return await executor.subjects('n1');
      } finally {
        await executor.close();
      }
    }

    test("the account's token is taken", async () => {
      await writeFile(secretFile(), await reviews.token(ACCOUNT, AUDIENCE));
      expect(await subjects()).toEqual(expect.any(Array));
    });

    test('a token that is replaced is read again, in the same executor', async () => {
      await writeFile(secretFile(), await reviews.token(ACCOUNT, AUDIENCE));
      const executor = createSaltExecutor({
        access: access(),
        minionOf: (node) => node,
        clock: systemClock,
      });
      try {
        await executor.subjects('n1');
        await writeFile(secretFile(), 'no token of anybody');
        await expect(executor.subjects('n1')).rejects.toThrow(/login of .* failed/);
        await writeFile(secretFile(), await reviews.token(ACCOUNT, AUDIENCE));
        // After a refusal the executor waits a second before it contacts the node again.
        const taken = await until('the new token is accepted', () =>
          executor.subjects('n1').catch(() => undefined),
        );
        expect(taken).toEqual(expect.any(Array));
      } finally {
        await executor.close();
      }
    });

    test.each<[string, string, string, string]>([
      ["another account's token under its own name", OTHER, OTHER, AUDIENCE],
      ["another account's token under the daemon's name", ACCOUNT, OTHER, AUDIENCE],
      ['a token for another audience', ACCOUNT, ACCOUNT, 'https://kubernetes.default.svc'],
    ])('%s is refused', async (_what, user, of, audience) => {
      await writeFile(secretFile(), await reviews.token(of, audience));
      await expect(subjects(user)).rejects.toMatchObject({
        name: 'NodeError',
        code: 'refused',
        message: expect.stringMatching(/login of .* failed/),
      });
    });

    test.each(['', 'no token of anybody'])('%j is refused', async (token) => {
      await writeFile(secretFile(), token);
      await expect(subjects()).rejects.toMatchObject({ name: 'NodeError', code: 'refused' });
    });
  });
}
