// Signs in on Backstage's page with an account at a real provider of OpenID
// Connect, in the window that opens, until that is closed.
exports.signIn = async (page, { name, password }) => {
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Sign In' }).click();
  const popup = await opened;
  await popup.getByLabel('Username or Email Address').fill(name);
  await popup.getByLabel('Password').fill(password);
  await popup.getByRole('button', { name: 'Sign In' }).click();
  const closed = popup.waitForEvent('close');
  await popup.getByRole('button', { name: 'Authorize Application' }).click();
  await closed;
};
