# SPDX-License-Identifier: Apache-2.0
# Completion for all prof-* programs: options come from --help, operands are files, and what
# follows -- is a command. `make install` puts it under each program's name, where
# bash-completion looks.

_profpipe()
{
	# shellcheck disable=SC2034 # _init_completion sets all of these
	local cur prev words cword split i values=
	_init_completion -s || return

	# prof-capture's COMMAND is completed as if it stood alone
	for ((i = 1; i < cword; i++)); do
		if [[ ${words[i]} == -- && $1 == *prof-capture ]]; then
			_command_offset $((i + 1))
			return
		fi
	done

	if ((cword == 1)); then
		case $1 in
		*prof-spool)
			mapfile -t COMPREPLY < <(compgen -W \
				'init run add tend query verify status' -- "$cur")
			return
			;;
		*prof-scrape)
			mapfile -t COMPREPLY < <(compgen -W 'run status' -- "$cur")
			return
			;;
		esac
	fi
	case $prev in
	-e | --event) [[ $1 != *prof-capture ]] || values='cpu offcpu wall faults block net alloc list' ;;
	--granularity) values='functions lines files addresses binaries' ;;
	--list) values='labels values types ranges' ;;
	--sort) values='flat cum' ;;
	--norm) values='auto work stable share seconds none' ;;
	--names) values='canonical raw' ;;
	--report)
		values='text json markdown junit github sarif codequality'
		[[ $1 == *prof-symbolize ]] && values=json
		;;
	--demangle) values='none simple templates full' ;;
	--return-addresses) values='exact minus-one' ;;
	esac
	if [[ $values ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
		return
	fi
	if [[ $cur == -* ]] && ! $split; then
		# the rest of an explanation may begin with a dash too
		mapfile -t COMPREPLY < <(compgen -W "$(_parse_help "$1" |
			grep -xE -e '--[a-z][a-z-]*=?')" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	_filedir
}

complete -F _profpipe prof-capture prof-symbolize prof-merge prof-diff prof-render prof-spool \
	prof-scrape
