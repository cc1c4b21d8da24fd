"""Containers that run, and those that do not."""


def pid(_number):
    return None
