//! The tools that build the page, each of one pinned version: found on the `PATH`, or in a folder of the user that
//! all checkouts share, or installed there.

use crate::run::{cargo, command, output, root, run};
use anyhow::{Context, Result, anyhow, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRUNK: &str = "0.21.14";
/// Its `wasm-opt` calls itself by the first number alone.
const BINARYEN: &str = "132.0.0";
/// Only measured against, never part of anything.
const MERMAID: &str = "12.3.0";

/// Where the tools are, for the commands that use them.
#[derive(Default)]
pub(crate) struct Toolbox {
    /// Put before the `PATH`, so that children find the pinned tools first.
    folders: Vec<PathBuf>,
    /// Set for the children.
    variables: Vec<(&'static str, OsString)>,
}

impl Toolbox {
    /// `program`, found among the tools or on the `PATH`, with `words` as its arguments.
    pub(crate) fn command(&self, program: &str, words: &str) -> Result<Command> {
        let path = self.path()?;
        let found =
            which::which_in(program, Some(&path), root()).with_context(|| format!("cannot find `{program}`"))?;
        let mut command = command(found);
        command.args(words.split_whitespace()).env("PATH", path).envs(self.variables.iter().cloned());
        Ok(command)
    }

    /// The cargo that runs this program, with `words` as its arguments.
    pub(crate) fn cargo(&self, words: &str) -> Result<Command> {
        let mut cargo = cargo(words);
        cargo.env("PATH", self.path()?).envs(self.variables.iter().cloned());
        Ok(cargo)
    }

    /// Sets an environment variable for every command.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    fn path(&self) -> Result<OsString> {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.folders.iter().cloned().chain(std::env::split_paths(&old));
        std::env::join_paths(folders).context("a folder of the tools cannot be put on the PATH")
    }

    /// Finds or installs trunk.
    pub(crate) fn add_trunk(&mut self) -> Result<()> {
        self.set("TRUNK_SKIP_VERSION_CHECK", "true");
        self.add(&Tool {
            name: "trunk",
            version: TRUNK,
            programs: &["trunk"],
            minutes: 4,
            // Without what it downloads with: every tool it calls is found before it runs.
            source: Source::Crate("trunk --no-default-features"),
        })
    }

    /// Finds or installs wasm-bindgen and its test runner, of the version that the lock file has of the library.
    pub(crate) fn add_wasm_bindgen(&mut self) -> Result<()> {
        self.add(&Tool {
            name: "wasm-bindgen",
            version: &locked_version("wasm-bindgen")?,
            programs: &["wasm-bindgen", "wasm-bindgen-test-runner"],
            minutes: 2,
            source: Source::Crate("wasm-bindgen-cli"),
        })
    }

    /// Finds or installs wasm-opt, and tells trunk which one to take.
    pub(crate) fn add_wasm_opt(&mut self) -> Result<()> {
        let number = short(BINARYEN);
        self.set("TRUNK_TOOLS_WASM_OPT", format!("version_{number}"));
        self.add(&Tool {
            name: "binaryen",
            version: BINARYEN,
            programs: &["wasm-opt"],
            minutes: 1,
            source: Source::Npm,
        })
        .with_context(|| format!("the released page needs wasm-opt {number}, on the PATH or by npm"))
    }

    fn add(&mut self, tool: &Tool<'_>) -> Result<()> {
        if tool.programs.iter().all(|program| tool.is(which::which(program))) {
            return Ok(());
        }
        let folder = cache()?.join("tools").join(format!("{}-{}", tool.name, tool.version));
        let programs = tool.programs_below(&folder);
        if !tool.is_in(&programs) {
            println!("installing {} {} (about {} min, once) ...", tool.name, tool.version, tool.minutes);
            tool.install(&folder)?;
        }
        if !tool.is_in(&programs) {
            bail!("{} was installed into {}, but does not run", tool.name, folder.display());
        }
        self.folders.push(programs);
        Ok(())
    }
}

/// Finds or downloads the file `mermaid.min.js`.
pub(crate) fn mermaid() -> Result<PathBuf> {
    let folder = cache()?.join("tools").join(format!("mermaid-{MERMAID}"));
    let file = folder.join("package/dist/mermaid.min.js");
    if !file.is_file() {
        println!("downloading Mermaid {MERMAID} (1 min, once) ...");
        fs::create_dir_all(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
        run(npm()?.args(["pack", "--silent"]).arg(format!("mermaid@{MERMAID}")).current_dir(&folder))?;
        run(command("tar").args(["-xzf", &format!("mermaid-{MERMAID}.tgz")]).current_dir(&folder))?;
    }
    Ok(file)
}

fn npm() -> Result<Command> {
    let npm = which::which("npm").map_err(|_| anyhow!("npm is missing: install Node.js (https://nodejs.org)"))?;
    Ok(command(npm))
}

struct Tool<'a> {
    name: &'a str,
    version: &'a str,
    programs: &'a [&'a str],
    /// How long it takes to install, on two cores.
    minutes: u32,
    source: Source,
}

enum Source {
    /// A crate's name, and what else `cargo install` is told.
    Crate(&'static str),
    /// The npm package of the tool's name.
    Npm,
}

impl Tool<'_> {
    fn is_in(&self, folder: &Path) -> bool {
        self.programs.iter().all(|program| self.is(which::which_in(program, Some(folder), root())))
    }

    /// Whether the program is there and prints the version: `trunk 0.21.14`, `wasm-opt version 132 (version_132)`.
    fn is(&self, program: which::Result<PathBuf>) -> bool {
        let Ok(program) = program else { return false };
        let printed = output(command(program).arg("--version")).unwrap_or_default();
        printed.split_whitespace().any(|word| word == short(self.version))
    }

    fn programs_below(&self, folder: &Path) -> PathBuf {
        match self.source {
            Source::Crate(_) => folder.join("bin"),
            Source::Npm => folder.join("node_modules").join(".bin"),
        }
    }

    fn install(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
        let Self { name, version, .. } = self;
        match self.source {
            Source::Crate(words) => {
                // Twice as quick to build, and quick enough to run.
                let profile = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "1")];
                let profile = profile.map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value));
                let install = format!("install --locked --quiet --version {version} {words} --root");
                run(cargo(&install).arg(folder).envs(profile))
            }
            Source::Npm => {
                let words =
                    format!("install --silent --no-save --no-audit --no-fund --ignore-scripts {name}@{version}");
                run(npm()?.args(words.split(' ')).arg("--prefix").arg(folder))
            }
        }
    }
}

/// A folder of the user for what all checkouts share.
pub(crate) fn cache() -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME")
        .or_else(|| if cfg!(windows) { variable("LOCALAPPDATA") } else { None })
        .or_else(|| {
            variable("HOME").map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
        })
        .context("cannot tell where to keep tools: set XDG_CACHE_HOME to a folder")?;
    Ok(base.join("groupscope"))
}

/// The version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String> {
    let path = root().join("Cargo.lock");
    let lock = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.with_context(|| format!("{package} is not in {}", path.display()))?.to_owned())
}

/// The version as the tool prints it, where that leaves out zeros.
fn short(version: &str) -> &str {
    version.strip_suffix(".0.0").unwrap_or(version)
}
