import { execa } from 'execa';

/** Where this machine has Debian's packages from. Throws where that is not known. */
export async function debianMirror(): Promise<string> {
  const index = () =>
    execa('apt-get', [
      ...['indextargets', '--format', '$(LABEL) $(REPO_URI)'],
      ...['Created-By: Packages', 'Component: main'],
    ]);
  let { stdout } = await index();
  // What was never read is not listed.
  if (stdout === '') {
    await execa('apt-get', ['update']);
    ({ stdout } = await index());
  }
  const [, uri] = /^Debian (\S+)$/m.exec(stdout) ?? [];
  if (uri === undefined) throw new Error(`apt knows no archive of Debian:\n${stdout}`);
  return uri;
}
