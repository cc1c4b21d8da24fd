"""How many backups of a guest a storage keeps, and which of them go."""


def rules(job):
    text = job.asked.get("prune-backups") or job.given.get("prune-backups")
    if text:
        return {key: int(value) for key, _, value in (word.partition("=") for word in text.split(","))}
    return job.storage.retention() if job.storage is not None else {"keep-all": 1}


def limit(rule):
    return None if rule.get("keep-all") or not rule else sum(rule.values())


def of_guest(job, config):
    found = [backup for backup in job.storage.backups() if backup["vmid"] == config.number and backup["subtype"] == config.kind]
    return sorted((backup for backup in found if not backup.get("protected")), key=lambda backup: backup["ctime"])


def no_room(job, config):
    """Why there may be no more backup of a guest, where none may be removed for it."""
    if job.storage is None or (job.removes and not job.asked.get("protected")):
        return None
    most = limit(rules(job))
    if most is None or len(of_guest(job, config)) < most:
        return None
    return (f"There is a max backup limit of {most} enforced by the target storage or the vzdump parameters. "
            "Either increase the limit or delete old backups.")


def prune(single):
    """As it is done after each backup, unless it is asked not to be."""
    job = single.job
    rule = rules(job)
    most = limit(rule)
    if not job.removes or job.storage is None or most is None:
        return
    shown = ", ".join(f"{key}={value}" for key, value in rule.items())
    single.info(f"prune older backups with retention: {shown}")
    old = of_guest(job, single.config)
    old = old[:max(0, len(old) - most)]
    for backup in old:
        single.info(f"removing backup '{backup['volid']}'")
        job.storage.free(backup["volid"].partition(":")[2])
    single.info(f"pruned {len(old)} backup(s) not covered by keep-retention policy")
