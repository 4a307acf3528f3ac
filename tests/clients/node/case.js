// case runs one case: its header, then what it prints, or its error's SQLSTATE and message.
export async function testCase(name, body, after) {
  console.log(`== ${name}`)
  try {
    await body()
  } catch (e) {
    const cause = e.cause?.code || e.original?.code || e.parent?.code || e.driverError?.code
    console.log(cause || e.code || e.name, (e.cause?.message || e.message || '').split('\n')[0])
    if (after) await after(e).catch(() => {})
  }
}

export const show = (v) => console.log(JSON.stringify(v, (_, x) =>
  typeof x === 'bigint' ? `${x}n` : x))
