//! What may be done twice is done again where the connection was lost meanwhile.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Answer, Host, HostError, ask};

/// How long a lost connection is tried again.
const AGAIN: Duration = Duration::from_mins(1);

/// Does it until it goes through, or fails for another reason than the connection.
///
/// # Errors
/// The last one, where the connection does not come back within a minute.
pub async fn until_reached<T, F>(work: impl Fn() -> F) -> Result<T, HostError>
where
    F: Future<Output = Result<T, HostError>>,
{
    let until = Instant::now() + AGAIN;
    let mut pause = Duration::from_millis(100);
    loop {
        match work().await {
            Err(why) if why.is_transient() && Instant::now() < until => {
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(5));
            }
            done => return done,
        }
    }
}

/// [`ask`]s until it is answered.
///
/// # Errors
/// [`HostError::Down`] where the connection does not come back within a minute.
pub async fn ask_again(
    host: &dyn Host,
    script: &str,
    stdin: &[u8],
    limit: usize,
    patience: Duration,
) -> Result<Answer, HostError> {
    until_reached(|| ask(host, script, stdin, limit, patience)).await
}
