//! What was asked for, handed to one command.

use std::io::Write;
use std::process::ExitCode;

use comeback::cli::Cli;
use comeback::commands;

fn main() -> ExitCode {
    let cli = Cli::read(std::env::args_os()).unwrap_or_else(|why| why.exit());
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(why) => return fail(&format!("no runtime: {why}"), 1),
    };
    let exit = match runtime.block_on(commands::dispatch(cli)) {
        Ok(code) => code,
        Err(why) => return fail(&why.to_string(), why.exit()),
    };
    // Readers of a terminal may wait for ever; everything that counts has been joined.
    runtime.shutdown_background();
    ExitCode::from(u8::try_from(exit).unwrap_or(1))
}

fn fail(why: &str, exit: i32) -> ExitCode {
    let clean = comeback::session::clean(why);
    let _ = writeln!(std::io::stderr().lock(), "comeback: {clean}");
    ExitCode::from(u8::try_from(exit).unwrap_or(1))
}
