# Palaestra for CPUs. By default it serves the page; the address that it prints has the token that others need.
#   docker build -t palaestra .
#   docker run --rm -it -p 8800:8800 -v palaestra:/home/palaestra/work palaestra
FROM python:3.11-slim

# Of the CPU index and alone: from the usual index torch brings gigabytes of CUDA. Same version as in constraints.txt.
RUN pip install --no-cache-dir torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir --constraint constraints.txt ".[web,lab]" && rm -rf /src

# Not root: a run needs no rights, and compiled code is only loaded from a folder that belongs to the user.
RUN useradd --create-home palaestra && mkdir /home/palaestra/work && chown palaestra /home/palaestra/work
USER palaestra
WORKDIR /home/palaestra/work
VOLUME /home/palaestra/work
EXPOSE 8800

CMD ["palaestra", "serve", "--host", "0.0.0.0", "--port", "8800"]
