//! A web server for files, on this machine only.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tiny_http::{Header, Request, Response, Server};

/// A folder, served on a free port of this machine until dropped.
pub struct Site {
    address: SocketAddr,
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    /// Serves `folder`.
    pub fn new(folder: &Path) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("a free port on this machine"));
        let address = server.server_addr().to_ip().expect("an address of the Internet protocol");
        let thread = thread::spawn({
            let (server, folder) = (Arc::clone(&server), folder.to_path_buf());
            move || server.incoming_requests().for_each(|request| answer(request, &folder))
        });
        Self { address, server, thread: Some(thread) }
    }

    /// The released page, which `cargo xtask build` has written.
    pub fn released() -> Self {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist");
        assert!(dist.join("index.html").is_file(), "dist/ holds no page: run `cargo xtask build` first");
        Self::new(&dist)
    }

    /// The address of a file: `path` is relative to the folder, without a slash before it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A client that has gone away in the meantime is no concern of the server's.
fn answer(request: Request, folder: &Path) {
    let file = file_of(request.url(), folder);
    let sent = match file.as_ref().and_then(|file| fs::read(file).ok()) {
        Some(bytes) => request.respond(Response::from_data(bytes).with_header(content_type(&file.unwrap_or_default()))),
        None => request.respond(Response::empty(404)),
    };
    drop(sent);
}

/// The file that an address means, if it is inside the folder.
fn file_of(url: &str, folder: &Path) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next()?.trim_start_matches('/');
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(if path.is_empty() { "index.html" } else { path });
    inside.then_some(file)
}

fn content_type(file: &Path) -> Header {
    let name = match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    Header::from_bytes("Content-Type", name).expect("a well-formed header")
}
