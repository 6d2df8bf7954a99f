// An HTTP server and its client: answers 200 requests and prints the number of bytes.
import http from "node:http";

const rows = (count) => Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` }));
const server = http.createServer((request, response) => response.end(JSON.stringify(rows(100))));
server.listen(0, "127.0.0.1", async () => {
  let bytes = 0;
  for (let i = 0; i < 200; ++i) {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
    bytes += (await answer.text()).length;
  }
  console.log(bytes);
  server.close();
  server.closeAllConnections();
});
