//! A web server for files, on this machine only.
//!
//! One short answer per connection, each on a thread of its own: nothing to pool, so nothing to run out of.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A folder, served on a free port of this machine until dropped.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    /// Serves `folder`.
    pub fn new(folder: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on this machine");
        let address = listener.local_addr().expect("a listener has an address");
        let closing = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (closing, folder) = (Arc::clone(&closing), Arc::from(folder));
            move || serve(&listener, &folder, &closing)
        });
        Self { address, closing, thread: Some(thread) }
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
        self.closing.store(true, Ordering::Relaxed);
        // Wakes the listener, which then sees that it is time to go.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(listener: &TcpListener, folder: &Arc<Path>, closing: &AtomicBool) {
    for stream in listener.incoming() {
        if closing.load(Ordering::Relaxed) {
            break;
        }
        let folder = Arc::clone(folder);
        // A browser that has gone away in the meantime is no concern of the server's.
        thread::spawn(move || stream.and_then(|stream| answer(&stream, &folder)));
    }
}

fn answer(stream: &TcpStream, folder: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The headers say nothing that matters here, but are to be read before the connection closes.
    for header in lines {
        if header?.is_empty() {
            break;
        }
    }
    let file = request.split(' ').nth(1).and_then(|url| file_of(url, folder));
    let (status, kind, body) = match file.as_ref().and_then(|file| Some((file, fs::read(file).ok()?))) {
        Some((file, bytes)) => ("200 OK", content_type(file), bytes),
        None => ("404 Not Found", "text/plain", Vec::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

/// The file that an address means, if it is inside the folder.
fn file_of(url: &str, folder: &Path) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next()?.trim_start_matches('/');
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(if path.is_empty() { "index.html" } else { path });
    inside.then_some(file)
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
