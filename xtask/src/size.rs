//! How much the page loads.

use crate::run::root;
use anyhow::{Context, Result, bail};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most that the page's first load may weigh, gzipped.
const BUDGET_BYTES: usize = 220_000;
/// What a first load fetches from `dist/`.
const LOADED: [&str; 4] = ["html", "css", "js", "wasm"];

/// Prints the gzipped size of each file that the page's first load needs, and fails above the budget.
pub(crate) fn size() -> Result<()> {
    let mut files = Vec::new();
    find_files(&root().join("dist"), &mut files).context("dist/ is not there: run `cargo xtask build` first")?;
    files.retain(|path| path.extension().is_some_and(|ext| LOADED.iter().any(|loaded| ext == *loaded)));
    files.sort();
    let mut total = 0;
    println!("{:>10} {:>10}  file", "bytes", "gzipped");
    for path in &files {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let gzipped = gzipped_len(&bytes)?;
        total += gzipped;
        println!("{:>10} {gzipped:>10}  {}", bytes.len(), path.strip_prefix(root()).unwrap_or(path).display());
    }
    println!("{:>10} {total:>10}  in all, of {BUDGET_BYTES}", "");
    if !files.iter().any(|path| path.extension().is_some_and(|ext| ext == "wasm")) {
        bail!("dist/ holds no WebAssembly: run `cargo xtask build` first");
    }
    if total > BUDGET_BYTES {
        bail!("the page weighs {} bytes more than its budget of {BUDGET_BYTES}", total - BUDGET_BYTES);
    }
    Ok(())
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_files(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn gzipped_len(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
